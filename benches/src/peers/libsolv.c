/* Solves universes with libsolv. What is read and written is said in child.rs. */

#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include <solv/pool.h>
#include <solv/repo.h>
#include <solv/solver.h>

/* The library allocates through these, so that they can count. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void __libc_free(void *old);

static long allocated, peak;

static void *counted(void *memory)
{
  if (memory)
    {
      allocated += malloc_usable_size(memory);
      if (allocated > peak)
        peak = allocated;
    }
  return memory;
}

static void uncounted(void *memory)
{
  if (memory)
    allocated -= malloc_usable_size(memory);
}

void *malloc(size_t size)
{
  return counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
  return counted(__libc_calloc(count, size));
}

void *realloc(void *old, size_t size)
{
  uncounted(old);
  return counted(__libc_realloc(old, size));
}

void free(void *old)
{
  uncounted(old);
  __libc_free(old);
}

static unsigned number(void)
{
  unsigned result;
  if (scanf("%u", &result) != 1)
    exit(0);
  return result;
}

static Id named(Pool *pool, const char *format, unsigned value)
{
  char text[32];
  snprintf(text, sizeof text, format, value);
  return pool_str2id(pool, text, 1);
}

/* One requirement: the package in one of some intervals. */
static Id requirement(Pool *pool)
{
  Id name = named(pool, "p%u", number());
  unsigned intervals = number();
  Id any = 0;
  for (unsigned at = 0; at < intervals; at++)
    {
      unsigned low = number(), high = number();
      Id within;
      if (low == 0 && high == 0)
        within = name;
      else if (high == low + 1)
        within = pool_rel2id(pool, name, named(pool, "%u", low), REL_EQ, 1);
      else
        {
          Id above = low ? pool_rel2id(pool, name, named(pool, "%u", low), REL_GT | REL_EQ, 1) : 0;
          Id below = high ? pool_rel2id(pool, name, named(pool, "%u", high), REL_LT, 1) : 0;
          within = !above ? below : !below ? above : pool_rel2id(pool, above, below, REL_WITH, 1);
        }
      any = any ? pool_rel2id(pool, any, within, REL_OR, 1) : within;
    }
  /* Nothing provides a version that is not there. */
  return any ? any : named(pool, "nothing of %u", name);
}

static long long thread_time(void)
{
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void answer(Pool *pool, Solver *solver, int failed, long long time, long bytes)
{
  printf("%d %lld %ld", !failed, time, bytes);
  if (!failed)
    {
      Queue decided;
      int count = 0;
      queue_init(&decided);
      solver_get_decisionqueue(solver, &decided);
      for (int at = 0; at < decided.count; at++)
        count += decided.elements[at] > SYSTEMSOLVABLE;
      printf(" %d", count);
      for (int at = 0; at < decided.count; at++)
        if (decided.elements[at] > SYSTEMSOLVABLE)
          {
            Solvable *solvable = pool->solvables + decided.elements[at];
            printf(" %s %s", pool_id2str(pool, solvable->name) + 1,
                   pool_id2str(pool, solvable->evr));
          }
      queue_free(&decided);
    }
  else
    printf(" 0");
  printf("\n");
  fflush(stdout);
}

int main(void)
{
  Pool *pool = pool_create();
  pool_setdisttype(pool, DISTTYPE_RPM);
  pool_setarch(pool, "noarch");
  Repo *repo = repo_create(pool, "universe");
  unsigned packages = number(), roots = number();
  for (unsigned package = 0; package < packages; package++)
    for (unsigned releases = number(); releases > 0; releases--)
      {
        Id id = repo_add_solvable(repo);
        Solvable *solvable = pool_id2solvable(pool, id);
        solvable->name = named(pool, "p%u", package);
        solvable->evr = named(pool, "%u", number());
        solvable->arch = ARCH_NOARCH;
        Id self = pool_rel2id(pool, solvable->name, solvable->evr, REL_EQ, 1);
        solvable->provides = repo_addid_dep(repo, solvable->provides, self, 0);
        for (unsigned count = number(); count > 0; count--)
          {
            Id required = requirement(pool);
            solvable = pool_id2solvable(pool, id);
            solvable->requires = repo_addid_dep(repo, solvable->requires, required, 0);
          }
      }
  Queue *jobs = calloc(roots ? roots : 1, sizeof(Queue));
  for (unsigned root = 0; root < roots; root++)
    {
      queue_init(jobs + root);
      for (unsigned count = number(); count > 0; count--)
        queue_push2(jobs + root, SOLVER_INSTALL | SOLVER_SOLVABLE_PROVIDES, requirement(pool));
    }
  pool_addfileprovides(pool);
  pool_createwhatprovides(pool);
  printf("ready %ld\n", allocated);
  fflush(stdout);
  for (;;)
    {
      unsigned root = number(), limit = number();
      struct timespec spent;
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
      struct rlimit bound;
      getrlimit(RLIMIT_CPU, &bound);
      bound.rlim_cur = spent.tv_sec + limit / 1000 + 2;
      setrlimit(RLIMIT_CPU, &bound);
      long before = peak = allocated;
      long long start = thread_time();
      Solver *solver = solver_create(pool);
      int failed = solver_solve(solver, jobs + root) != 0;
      long long time = thread_time() - start;
      answer(pool, solver, failed, time, peak - before);
      solver_free(solver);
    }
}
